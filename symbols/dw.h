/* SPDX-License-Identifier: ISC */
/* The numbers of DWARF that are looked at here, by their standard's names. */
#ifndef SYMBOLS_DW_H
#define SYMBOLS_DW_H

enum {
	DW_UT_compile = 1, DW_UT_type, DW_UT_partial, DW_UT_skeleton,
	DW_UT_split_compile, DW_UT_split_type
};

enum {
	DW_TAG_array_type = 0x01, DW_TAG_class_type = 0x02,
	DW_TAG_enumeration_type = 0x04, DW_TAG_formal_parameter = 0x05,
	DW_TAG_lexical_block = 0x0b, DW_TAG_member = 0x0d,
	DW_TAG_pointer_type = 0x0f, DW_TAG_reference_type = 0x10,
	DW_TAG_compile_unit = 0x11, DW_TAG_structure_type = 0x13,
	DW_TAG_subroutine_type = 0x15, DW_TAG_typedef = 0x16,
	DW_TAG_union_type = 0x17, DW_TAG_unspecified_parameters = 0x18,
	DW_TAG_variant = 0x19, DW_TAG_inheritance = 0x1c,
	DW_TAG_inlined_subroutine = 0x1d, DW_TAG_module = 0x1e,
	DW_TAG_ptr_to_member_type = 0x1f, DW_TAG_subrange_type = 0x21,
	DW_TAG_base_type = 0x24, DW_TAG_const_type = 0x26,
	DW_TAG_enumerator = 0x28, DW_TAG_subprogram = 0x2e,
	DW_TAG_template_type_parameter = 0x2f, DW_TAG_variant_part = 0x33,
	DW_TAG_variable = 0x34, DW_TAG_volatile_type = 0x35,
	DW_TAG_restrict_type = 0x37, DW_TAG_interface_type = 0x38,
	DW_TAG_namespace = 0x39, DW_TAG_unspecified_type = 0x3b,
	DW_TAG_partial_unit = 0x3c, DW_TAG_type_unit = 0x41,
	DW_TAG_rvalue_reference_type = 0x42, DW_TAG_atomic_type = 0x47,
	DW_TAG_call_site = 0x48, DW_TAG_skeleton_unit = 0x4a,
	DW_TAG_immutable_type = 0x4b, DW_TAG_GNU_call_site = 0x4109
};

enum {
	DW_AT_sibling = 0x01, DW_AT_location = 0x02, DW_AT_name = 0x03,
	DW_AT_byte_size = 0x0b, DW_AT_bit_offset = 0x0c, DW_AT_bit_size = 0x0d,
	DW_AT_stmt_list = 0x10, DW_AT_low_pc = 0x11, DW_AT_high_pc = 0x12,
	DW_AT_language = 0x13, DW_AT_discr = 0x15, DW_AT_discr_value = 0x16,
	DW_AT_comp_dir = 0x1b, DW_AT_const_value = 0x1c,
	DW_AT_inline = 0x20, DW_AT_lower_bound = 0x22,
	DW_AT_producer = 0x25, DW_AT_upper_bound = 0x2f,
	DW_AT_abstract_origin = 0x31, DW_AT_artificial = 0x34,
	DW_AT_calling_convention = 0x36, DW_AT_count = 0x37,
	DW_AT_data_member_location = 0x38, DW_AT_decl_file = 0x3a,
	DW_AT_decl_line = 0x3b, DW_AT_declaration = 0x3c,
	DW_AT_encoding = 0x3e, DW_AT_external = 0x3f, DW_AT_frame_base = 0x40,
	DW_AT_specification = 0x47, DW_AT_type = 0x49,
	DW_AT_variable_parameter = 0x4b, DW_AT_virtuality = 0x4c,
	DW_AT_entry_pc = 0x52, DW_AT_ranges = 0x55,
	DW_AT_signature = 0x69, DW_AT_data_bit_offset = 0x6b,
	DW_AT_linkage_name = 0x6e, DW_AT_str_offsets_base = 0x72,
	DW_AT_addr_base = 0x73, DW_AT_rnglists_base = 0x74,
	DW_AT_dwo_name = 0x76, DW_AT_alignment = 0x88,
	DW_AT_loclists_base = 0x8c, DW_AT_deleted = 0x8a,
	DW_AT_defaulted = 0x8b, DW_AT_MIPS_linkage_name = 0x2007,
	DW_AT_GNU_dwo_name = 0x2130, DW_AT_GNU_ranges_base = 0x2132,
	DW_AT_GNU_addr_base = 0x2133, DW_AT_go_kind = 0x2900
};

enum {
	DW_FORM_addr = 0x01, DW_FORM_block2 = 0x03, DW_FORM_block4 = 0x04,
	DW_FORM_data2 = 0x05, DW_FORM_data4 = 0x06, DW_FORM_data8 = 0x07,
	DW_FORM_string = 0x08, DW_FORM_block = 0x09, DW_FORM_block1 = 0x0a,
	DW_FORM_data1 = 0x0b, DW_FORM_flag = 0x0c, DW_FORM_sdata = 0x0d,
	DW_FORM_strp = 0x0e, DW_FORM_udata = 0x0f, DW_FORM_ref_addr = 0x10,
	DW_FORM_ref1 = 0x11, DW_FORM_ref2 = 0x12, DW_FORM_ref4 = 0x13,
	DW_FORM_ref8 = 0x14, DW_FORM_ref_udata = 0x15,
	DW_FORM_indirect = 0x16, DW_FORM_sec_offset = 0x17,
	DW_FORM_exprloc = 0x18, DW_FORM_flag_present = 0x19,
	DW_FORM_strx = 0x1a, DW_FORM_addrx = 0x1b, DW_FORM_ref_sup4 = 0x1c,
	DW_FORM_strp_sup = 0x1d, DW_FORM_data16 = 0x1e,
	DW_FORM_line_strp = 0x1f, DW_FORM_ref_sig8 = 0x20,
	DW_FORM_implicit_const = 0x21, DW_FORM_loclistx = 0x22,
	DW_FORM_rnglistx = 0x23, DW_FORM_ref_sup8 = 0x24,
	DW_FORM_strx1 = 0x25, DW_FORM_strx2 = 0x26, DW_FORM_strx3 = 0x27,
	DW_FORM_strx4 = 0x28, DW_FORM_addrx1 = 0x29, DW_FORM_addrx2 = 0x2a,
	DW_FORM_addrx3 = 0x2b, DW_FORM_addrx4 = 0x2c,
	DW_FORM_GNU_addr_index = 0x1f01, DW_FORM_GNU_str_index = 0x1f02,
	DW_FORM_GNU_ref_alt = 0x1f20, DW_FORM_GNU_strp_alt = 0x1f21
};

enum {
	DW_ATE_address = 0x01, DW_ATE_boolean = 0x02,
	DW_ATE_complex_float = 0x03, DW_ATE_float = 0x04,
	DW_ATE_signed = 0x05, DW_ATE_signed_char = 0x06,
	DW_ATE_unsigned = 0x07, DW_ATE_unsigned_char = 0x08,
	DW_ATE_UTF = 0x10
};

enum {
	DW_LANG_C89 = 0x01, DW_LANG_C = 0x02, DW_LANG_C_plus_plus = 0x04,
	DW_LANG_C99 = 0x0c, DW_LANG_ObjC_plus_plus = 0x11,
	DW_LANG_Go = 0x16, DW_LANG_C_plus_plus_03 = 0x19,
	DW_LANG_C_plus_plus_11 = 0x1a, DW_LANG_Rust = 0x1c,
	DW_LANG_C11 = 0x1d, DW_LANG_C_plus_plus_14 = 0x21,
	DW_LANG_C_plus_plus_17 = 0x2b, DW_LANG_C_plus_plus_20 = 0x2c,
	DW_LANG_C17 = 0x2d, DW_LANG_Rust_old = 0x9000
};

enum {
	DW_INL_inlined = 1, DW_INL_declared_inlined = 3
};

enum {
	DW_CC_pass_by_reference = 4, DW_CC_pass_by_value = 5
};

enum {
	DW_RLE_end_of_list, DW_RLE_base_addressx, DW_RLE_startx_endx,
	DW_RLE_startx_length, DW_RLE_offset_pair, DW_RLE_base_address,
	DW_RLE_start_end, DW_RLE_start_length
};

enum {
	DW_LLE_end_of_list, DW_LLE_base_addressx, DW_LLE_startx_endx,
	DW_LLE_startx_length, DW_LLE_offset_pair, DW_LLE_default_location,
	DW_LLE_base_address, DW_LLE_start_end, DW_LLE_start_length,
	DW_LLE_GNU_view_pair
};

enum {
	DW_LNCT_path = 1, DW_LNCT_directory_index = 2
};

enum {
	DW_OP_addr = 0x03, DW_OP_deref = 0x06, DW_OP_const1u = 0x08,
	DW_OP_const1s, DW_OP_const2u, DW_OP_const2s, DW_OP_const4u,
	DW_OP_const4s, DW_OP_const8u, DW_OP_const8s, DW_OP_constu,
	DW_OP_consts, DW_OP_and = 0x1a, DW_OP_plus_uconst = 0x23,
	DW_OP_lit0 = 0x30, DW_OP_lit31 = 0x4f,
	DW_OP_reg0 = 0x50, DW_OP_reg31 = 0x6f, DW_OP_breg0 = 0x70,
	DW_OP_breg31 = 0x8f, DW_OP_regx = 0x90, DW_OP_fbreg = 0x91, DW_OP_piece = 0x93,
	DW_OP_call_frame_cfa = 0x9c,	DW_OP_implicit_value = 0x9e,
	DW_OP_stack_value = 0x9f
};

#endif
